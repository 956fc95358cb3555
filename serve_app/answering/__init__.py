"""The answering side of the edge: the endpoint's route, its body and events, and the client of a model's endpoint."""
