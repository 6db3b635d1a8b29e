"""The Site: what a Plan cannot know, because it is about one place, its machines and its rules."""
