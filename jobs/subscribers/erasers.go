package subscribersjobs

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// Erasers remove what is kept of forgotten persons. Every field is required. Safe for concurrent use.
type Erasers struct {
	// Person erases a customer.
	Person func(ctx context.Context, args commands.ErasePerson, meta commands.Meta) error
	// User erases somebody who signed in to see a customer.
	User  func(ctx context.Context, user id.User) error
	Queue *jobrunner.Runner
}

// Register makes the queue know the workers. A job is tried for months: its process asks for it only once, and the key
// of the person lives until it has succeeded.
func (w Erasers) Register() {
	patient := jobrunner.Options{
		Timeout: partTimeout, MaxAttempts: partAttempts, Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(w.Queue, w.person, patient)
	jobrunner.AddWorker(w.Queue, w.user, patient)
}

// person erases a customer.
func (w Erasers) person(ctx context.Context, args commands.ErasePerson, cause jobs.Cause) error {
	cause.OrgID = args.OrgID
	return w.Person(ctx, args, cause.Meta("erase"))
}

// user erases a user.
func (w Erasers) user(ctx context.Context, args commands.EraseUser, _ jobs.Cause) error {
	return w.User(ctx, args.UserID)
}
