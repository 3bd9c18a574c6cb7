typedef int workers_placeholder;
