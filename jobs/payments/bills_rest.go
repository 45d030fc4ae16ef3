package paymentsjobs

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// What of the platform the bill manager refuses.
const (
	refusedKey         = "key"
	refusedCredentials = "credentials"
)

// NewBillsRefused makes the counter of what the bill manager refuses of the platform: as long as it does, the bills of
// all organizations wait (docs/rules/payments-billmanager.md#platform-level).
func NewBillsRefused(to prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lastmile_bill_manager_refused_total",
		Help: "Runs in which the bill manager refused the platform's key, or its credentials.",
	}, []string{"what"})
	for _, what := range []string{refusedKey, refusedCredentials} {
		c.WithLabelValues(what)
	}
	if to != nil {
		to.MustRegister(c)
	}
	return c
}

// calls has what came of the calls of a run.
type calls struct {
	answered bool   // the bill manager has answered one, whatever it said
	unsent   bool   // one was not made: nothing was sent, or the key was refused before anything was done
	refused  string // why, when the platform is refused: of refusedKey and its sibling
}

// note takes down the end of a call. A bill that cannot be sent because of itself makes no call.
func (c *calls) note(answer mobilemoney.BillAnswer, err error) {
	switch {
	case failure.CodeOf(err) == mobilemoney.CodeAppKeyRefused:
		c.unsent, c.refused = true, refusedKey
	case err != nil:
	case answer.Outcome == mobilemoney.BillNotSent:
		c.unsent = true
		if failure.CodeOf(answer.Cause) == "provider_credentials_refused" {
			c.refused = refusedCredentials
		}
	case answer.Outcome != mobilemoney.BillInDoubt, answer.Refusal != nil:
		c.answered = true
	}
}

// tell counts a refusal of the platform, and keeps since when it lasts, for the page of the opt-in.
func (b *Bills) tell(ctx context.Context, key id.Secret, made calls) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportPatience)
	defer cancel()
	switch {
	case made.refused != "":
		b.cfg.Refused.WithLabelValues(made.refused).Inc()
		return b.cfg.Secrets.Refused(ctx, key)
	case made.answered:
		return b.cfg.Secrets.Accepted(ctx, key)
	}
	return nil
}

// Pauses of a bill manager that is left alone: the first one, which doubles with each, and the longest.
const (
	billsRest  = 15 * time.Second
	billsRests = 10 * time.Minute
)

// rest is a growing pause after runs in which the provider let the platform make no call: each try is two events for
// each bill. A new key is tried at once, and so is everything by a program that has just begun. Its instants are those
// of a clock.Pace. Safe for concurrent use.
type rest struct {
	mu    sync.Mutex
	key   secrets.Text
	until time.Time
	pause time.Duration // the last one; 0 = none
}

// holds reports whether the bill manager is left alone with a key.
func (r *rest) holds(key secrets.Text, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return key == r.key && now.Before(r.until)
}

// after follows a run, at its end. One answered call ends the pauses; a run without any call changes nothing.
func (r *rest) after(key secrets.Text, now time.Time, made calls) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if made.answered || key != r.key {
		r.key, r.until, r.pause = key, time.Time{}, 0
	}
	if made.unsent && !made.answered {
		r.pause = min(max(2*r.pause, billsRest), billsRests)
		r.until = now.Add(r.pause)
	}
}
