package usecases

import "github.com/lastmile-isp/lastmile/internal/failure"

// ErrSignIn is the same failure for a missing, a wrong and a foreign token, so that the answer does not show which it
// was.
func ErrSignIn() error {
	return failure.NewUnauthenticated("unauthenticated", "Please sign in.")
}

// ErrPeopleOnly refuses an API key where a person has to act: keys, users, roles, sessions and passwords are never
// managed by a key.
func ErrPeopleOnly() error {
	return failure.NewDenied("api_key_not_allowed", "An API key cannot do this. Sign in as a person.")
}
