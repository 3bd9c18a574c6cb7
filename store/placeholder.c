/* placeholder */
typedef int store_placeholder;
