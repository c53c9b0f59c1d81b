/*
** Finds mistyped options before argp does.
*/

#include <stdio.h>
#include <string.h>

#include "mistyped.h"
#include "nearest.h"

typedef struct argp_option Option;

/* Options of argp itself. */
static const Option check_argp[] = {{"help", '?', NULL, 0, NULL, 0},
                                    {"usage", -1, NULL, 0, NULL, 0},
                                    {"version", 'V', NULL, 0, NULL, 0},
                                    {0}};

/* The command line, up to a word. */
typedef struct Check {
  const Option *options[2];
  char **word; /* The next one; NULL ends them. */
  ClFail fail;
} Check;

/* -- Looking up ----------------------------------------------------------- */

/* Is this the end of a list of options? */
static int check_ends(const Option *o)
{
  return !o->name && !o->key && !o->doc;
}

/* The option whose name is, or begins with, the N characters at S. *SEVERAL is
** set if that is true for more than one.
*/
static const Option *check_long(const Check *c, const char *s, size_t n,
                                int *several)
{
  const Option *found = NULL, *o;
  int list;
  *several = 0;
  for (list = 0; list < 2; list++) {
    for (o = c->options[list]; !check_ends(o); o++) {
      if (!o->name || strncmp(o->name, s, n) != 0)
        continue;
      *several = found != NULL;
      found = o;
      if (strlen(o->name) == n) {
        *several = 0;
        return o;
      }
    }
  }
  return found;
}

/* The option of one character, or NULL. */
static const Option *check_short(const Check *c, char key)
{
  const Option *o;
  int list;
  for (list = 0; list < 2; list++)
    for (o = c->options[list]; !check_ends(o); o++)
      if (o->key == key && key > ' ')
        return o;
  return NULL;
}

/* -- Mistakes ------------------------------------------------------------- */

/* The N characters at S begin the names of several options. */
static void check_several(const Check *c, const char *s, size_t n)
{
  char names[512] = "";
  const Option *o;
  int list;
  for (list = 0; list < 2; list++) {
    for (o = c->options[list]; !check_ends(o); o++) {
      size_t used = strlen(names);
      if (o->name && strncmp(o->name, s, n) == 0)
        snprintf(names + used, sizeof(names) - used, "%s--%s", used ? ", " : "",
                 o->name);
    }
  }
  c->fail("--%.*s could be %s", (int)n, s, names);
}

/* The N characters at S name no option. */
static void check_unknown(const Check *c, const char *s, size_t n)
{
  char name[64];
  const Option *o;
  ClNearest near;
  int list;
  snprintf(name, sizeof(name), "%.*s", (int)n, s);
  near = cl_nearest(name);
  for (list = 0; list < 2; list++)
    for (o = c->options[list]; !check_ends(o); o++)
      if (o->name)
        cl_nearest_try(&near, o->name);
  if (near.best)
    c->fail("there is no option --%.*s; did you mean --%s?", (int)n, s,
            near.best);
  c->fail("there is no option --%.*s; --help lists all", (int)n, s);
}

/* Is the word an option? A value would be written behind "=" then. */
static int check_option(const Check *c, const char *word)
{
  int several;
  if (strncmp(word, "--", 2) == 0)
    return word[2] && check_long(c, word + 2, strcspn(word + 2, "="), &several);
  return word[0] == '-' && check_short(c, word[1]);
}

/* The option needs a value, which is what word follows. */
static void check_value(Check *c, const Option *o)
{
  const char *word = *c->word;
  if (!o->arg || (o->flags & OPTION_ARG_OPTIONAL))
    return;
  if (word && check_option(c, word)) {
    if (o->name)
      c->fail("--%s needs a value, %s was taken for it", o->name, word);
    c->fail("-%c needs a value, %s was taken for it", o->key, word);
  }
  if (word)
    c->word++;
  else if (o->name)
    c->fail("--%s needs a value: --%s=%s", o->name, o->name, o->arg);
  else
    c->fail("-%c needs a value: %s", o->key, o->arg);
}

/* A word that begins with "--"; S is what follows. */
static void check_double(Check *c, const char *s)
{
  size_t n = strcspn(s, "=");
  int several;
  const Option *o = check_long(c, s, n, &several);
  if (!o)
    check_unknown(c, s, n);
  else if (several)
    check_several(c, s, n);
  else if (s[n] && !o->arg)
    c->fail("--%s takes no value", o->name);
  else if (!s[n])
    check_value(c, o);
}

/* A name with one hyphen. If its first character is an option, too, it has to
** be the whole name.
*/
static void check_hyphen(const Check *c, const char *word, const Option *first)
{
  const char *s = word + 1;
  size_t n = strcspn(s, "=");
  int several;
  const Option *o = n > 1 ? check_long(c, s, n, &several) : NULL;
  if (o && first && strlen(o->name) == n)
    c->fail("%s has one hyphen; did you mean -%s?", word, word);
  if (o && !first)
    c->fail("there is no option -%c; did you mean -%s?", *s, word);
}

/* A word of short options. One with a value takes the rest of the word. */
static void check_single(Check *c, const char *word)
{
  const char *s = word + 1;
  check_hyphen(c, word, check_short(c, *s));
  for (; *s; s++) {
    const Option *o = check_short(c, *s);
    if (!o)
      c->fail("there is no option -%c; --help lists all", *s);
    if (o->arg) {
      if (!s[1])
        check_value(c, o);
      return;
    }
  }
}

void cl_mistyped(const struct argp_option *options, char **argv, int in_order,
                 ClFail fail)
{
  Check c = {{options, check_argp}, argv[0] ? argv + 1 : argv, fail};
  while (*c.word && strcmp(*c.word, "--") != 0) {
    const char *word = *c.word++;
    if (strncmp(word, "--", 2) == 0)
      check_double(&c, word + 2);
    else if (word[0] == '-')
      check_single(&c, word);
    else if (in_order)
      return;
  }
}
