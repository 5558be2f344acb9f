"""Operations that multiply tiles."""
