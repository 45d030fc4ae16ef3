package usecases

import "github.com/lastmile-isp/lastmile/internal/failure"

// ErrSignIn is the one answer to a missing, foreign or wrong proof of who asks.
func ErrSignIn() error {
	return failure.NewUnauthenticated("unauthenticated", "Please sign in.")
}
