"""What the end-to-end tests share: the program under test, a real web server, and small seeded inputs."""
