typedef int service_placeholder;
