"""What bench/fetch and bench/stage share: the ground, one comparison, its table, the command line."""
