package main

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// checkStandby refuses to stand by where no other program can have the log.
func checkStandby(cfg Config) error {
	switch {
	case !cfg.Standby:
		return nil
	case cfg.EventStoreURL != "":
		return errors.New("--standby: is for a program with a node of its own, and EVENTSTORE_URL names another one")
	case cfg.DatabaseURL == "":
		return errors.New("--standby: needs DATABASE_URL of a server that both programs reach; a private PostgreSQL " +
			"belongs to the program that runs it")
	}
	return nil
}

// inLine is the turn of a program whose node waits while another one has the log. Safe for concurrent use; a nil one is
// of a program that does not wait.
type inLine struct {
	steps  *startSteps
	app    *App // whose requests are refused meanwhile; nil = there are none
	behind atomic.Pointer[string]
}

// waitsInLine gives the turn of a program that stands by; nil for any other.
func waitsInLine(cfg Config, steps *startSteps, app *App) *inLine {
	if !cfg.Standby {
		return nil
	}
	return &inLine{steps: steps, app: app}
}

// begin notes that the node is opened from now on, which is no step that takes too long, however long it takes.
func (l *inLine) begin() {
	if l != nil {
		l.steps.begin("standby", "")
	}
}

// standsBehind notes the address of the node that has the log; "" when it is not known.
func (l *inLine) standsBehind(holder string) {
	if l.app != nil && l.app.kept != nil {
		if n := l.app.kept.Len(); n > 0 {
			l.app.logger.Warn("callbacks on the disk wait until this program serves: it stands by", "waiting", n)
		}
	}
	l.behind.Store(&holder)
}

// takesOver ends the wait.
func (l *inLine) takesOver() {
	if l != nil {
		l.behind.Store(nil)
	}
}

// awaited says what a program waits for that stands by; nil when it does not.
func (l *inLine) awaited() *awaited {
	if l == nil {
		return nil
	}
	switch holder := l.behind.Load(); {
	case holder == nil:
		return nil
	case *holder == "":
		return &awaited{"standby", "This program stands by: another one has the log, or migrates it."}
	default:
		return &awaited{"standby", "This program stands by: the one with the event store " + *holder + " serves."}
	}
}

// standbyRetry is when a client may ask a program again that stands by.
const standbyRetry = 5 * time.Second

// unlessInLine refuses every request while the program stands by. Callbacks that tell of money are not kept then: the
// program that serves takes them, and this one might never store them.
func (a *App) unlessInLine(starting http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch what := a.line.awaited(); {
		case what == nil:
			starting.ServeHTTP(w, r)
		case r.URL.Path == "/readyz":
			httpapi.SendAwaited(w, r, what.part, what.why)
		default:
			httpapi.SendFailure(r.Context(), w, failure.NewUnavailable("stands_by",
				"This program stands by. Please ask the one that serves.", standbyRetry, nil))
		}
	})
}
