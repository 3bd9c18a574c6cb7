/* placeholder */
typedef int queue_placeholder;
