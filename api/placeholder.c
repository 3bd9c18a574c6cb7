/* placeholder */
typedef int api_placeholder;
