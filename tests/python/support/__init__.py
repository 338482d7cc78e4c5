"""Shared by the end-to-end tests: the program under test, a real web server, and small seeded inputs."""
