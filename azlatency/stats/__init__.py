"""Statistics: frames or plain numbers in, results with their scope, method and refusals out. They draw nothing."""
