-- What is taken from a program 150 calls deep.
require("spin")(150)
