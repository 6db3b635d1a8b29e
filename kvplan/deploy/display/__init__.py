"""How a playbook tells what happens: a plugin that Ansible loads by its path."""
