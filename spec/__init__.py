"""Pure data that all other folders speak: problem, schedule, target, launch, element types, names of attributes."""
