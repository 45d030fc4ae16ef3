package usecases

import "github.com/lastmile-isp/lastmile/internal/failure"

// ErrSignIn is the same failure for a missing, a wrong and a foreign token, so that the answer does not show which it
// was.
func ErrSignIn() error {
	return failure.NewUnauthenticated("unauthenticated", "Please sign in.")
}
