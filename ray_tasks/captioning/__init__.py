"""Words from pictures: video clips to first-person captions, and the languages and prose of captions."""
