package identityviews

import (
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// ErrAccessUnknown answers whoever asks for access while rights are not known.
var ErrAccessUnknown error = failure.NewUnavailable("access_unknown",
	"Access cannot be checked at the moment. Please try again shortly.", 10*time.Second, nil)

// Access says whether the directory may be asked for rights. A directory that has stopped at an event, or that the log
// does not reach any more, does not know which rights have ended since, so nobody enters then, and everything that
// needs no rights goes on: callbacks, processes, jobs and read models (docs/rules/identity.md#access-ends-at-once).
// Safe for concurrent use.
type Access struct {
	shows *runner.Memory
	stuck func() bool // nil = never
	open  atomic.Bool
}

// NewAccess makes an Access over what fills the directory. It is closed until Open.
func NewAccess(shows *runner.Memory) *Access { return &Access{shows: shows} }

// Watch has the directory not asked while it is stuck, as runner.Fresh tells. It comes before Open.
func (a *Access) Watch(stuck func() bool) { a.stuck = stuck }

// Open lets the directory be asked from now on. What older versions have recorded must have been upgraded before.
func (a *Access) Open() { a.open.Store(true) }

// Fault is the reason for which nobody enters; empty while the directory may be asked.
func (a *Access) Fault() string {
	switch fault := a.shows.Fault(); {
	case fault != "":
		return fault
	case !a.open.Load():
		return "what older versions recorded about users is not upgraded yet"
	case a.stuck != nil && a.stuck():
		return "the log has more, and does not reach the directory"
	}
	return ""
}

// Check fails with ErrAccessUnknown while the directory must not be asked.
func (a *Access) Check() error {
	if a.Fault() != "" {
		return ErrAccessUnknown
	}
	return nil
}
