-- What is taken from a program a few calls deep.
require("spin")(1)
