/*
** The page of --format=html, in three parts; made of html/ when it is built.
*/

#ifndef LP_HTML_PAGE_H
#define LP_HTML_PAGE_H

extern const char lp_html_head[];   /* Here comes the metric to begin with, */
extern const char lp_html_middle[]; /* here the document of --format=json. */
extern const char lp_html_tail[];

#endif
