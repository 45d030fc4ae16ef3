package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/vault"
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
func (l *inLine) standsBehind(holder string) { l.behind.Store(&holder) }

// canServe fails when the program could not answer routers if it took the log over: somebody has taken its ports while
// it stood by. The addresses of HTTP it has already.
func (l *inLine) canServe(ctx context.Context) error {
	if l == nil || l.app == nil || !l.app.answersRouters() {
		return nil
	}
	for _, addr := range []string{l.app.cfg.RadiusAuthAddr, l.app.cfg.RadiusAcctAddr} {
		port, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", addr)
		if err != nil {
			return l.app.cannotAnswer(err)
		}
		_ = port.Close()
	}
	return nil
}

// handRound is how often a program that stands by looks for callbacks on its disk.
const handRound = time.Second

// handsOver gives the program that serves, by the database, the callbacks that wait on the disk of this one, as long as
// this one stands by: those of before, also of programs with this disk that are gone, and those that came before it
// knew that it stands by. The result ends that.
func (l *inLine) handsOver(ctx context.Context, db *postgres.DB) (end func()) {
	if l == nil || l.app == nil || l.app.kept == nil {
		return func() {}
	}
	kept, logger, away := l.app.kept, l.app.logger, loop.Outage{}
	work := loop.Within(ctx, logger)
	work.Go("callbacks for the program that serves", func(ctx context.Context) {
		for ; ctx.Err() == nil; loop.Sleep(ctx, handRound) {
			if l.behind.Load() == nil {
				continue
			}
			n, err := kept.HandOver(ctx, func(ctx context.Context, sealed [][]byte) error {
				return vault.HandOver(ctx, db, sealed)
			})
			if n > 0 {
				logger.InfoContext(ctx, "callbacks on the disk were handed to the program that serves", "callbacks", n)
			}
			if err == nil {
				away.Ended()
			} else if tell, _ := away.Failed(); tell && ctx.Err() == nil {
				logger.WarnContext(ctx, "callbacks on the disk wait: this program stands by, and cannot hand them over",
					"waiting", kept.Len(), "error", err)
			}
		}
	})
	return work.Stop
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
// program that serves takes them at once. Those of before it was known are handed over (handsOver).
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
