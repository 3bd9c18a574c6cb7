typedef int client_placeholder;
