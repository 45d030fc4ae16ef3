package handset

import (
	"fmt"
	"hash/fnv"
)

// The ways in which a NAS treats a request to change or to end a session.
const (
	Obey   = ""
	Silent = "silent" // as behind a firewall that drops it
	Refuse = "nak"    // NAK 504: the session cannot be removed
	Deny   = "deny"   // NAK 503: it says that it does not know the session
	Slow   = "slow"   // obeys, and answers after DynamicDelayMs
)

// Faults sets how the NAS and its network misbehave; the zero value is a good one. Probabilities are 0 to 1.
type Faults struct {
	// LoseStarts, LoseInterims and LoseStops are the probabilities that such a report is never sent.
	LoseStarts   float64 `json:"loseStarts"`
	LoseInterims float64 `json:"loseInterims"`
	LoseStops    float64 `json:"loseStops"`
	// RepeatReports is the probability that a report is sent once more after its answer, with another identifier.
	RepeatReports float64 `json:"repeatReports"`
	// LateSeconds is the time on the NAS's clock that every report waits, which its Acct-Delay-Time has.
	LateSeconds int `json:"lateSeconds"`
	// ReorderReports holds each report until the session's next one has been sent. A last one may stay held.
	ReorderReports bool `json:"reorderReports"`
	// DropReplies is the probability that an answer of the server is lost, so that the request is repeated.
	DropReplies float64 `json:"dropReplies"`
	// Dynamic says how requests to change or to end sessions are treated: Obey, Silent, Refuse, Deny or Slow.
	Dynamic string `json:"dynamic"`
	// DynamicDelayMs is the delay of Slow, on the NAS's clock.
	DynamicDelayMs int `json:"dynamicDelayMs"`
}

// SetFaults replaces all faults; a value out of range is an error.
func (n *NAS) SetFaults(f Faults) error {
	for _, p := range []float64{f.LoseStarts, f.LoseInterims, f.LoseStops, f.RepeatReports, f.DropReplies} {
		if p < 0 || p > 1 {
			return fmt.Errorf("the probability %v is not from 0 to 1", p)
		}
	}
	if f.LateSeconds < 0 || f.DynamicDelayMs < 0 {
		return fmt.Errorf("no time may be negative")
	}
	switch f.Dynamic {
	case Obey, Silent, Refuse, Deny, Slow:
	default:
		return fmt.Errorf("dynamic %q is none of silent, nak, deny, slow", f.Dynamic)
	}
	n.lock()
	defer n.unlock()
	n.faults = f
	return nil
}

// Faults gives the present faults.
func (n *NAS) Faults() Faults {
	n.lock()
	defer n.unlock()
	return n.faults
}

// happens draws with a probability. The result follows from the seed and the name of what may happen.
func (n *NAS) happens(p float64, what ...any) bool {
	if p <= 0 {
		return false
	}
	sum := fnv.New64a()
	_, _ = fmt.Fprintln(sum, n.cfg.Seed, n.cfg.Name, what)
	mixed := sum.Sum64() * 0x9E3779B97F4A7C15 // the sum alone differs little in its first bits
	mixed ^= mixed >> 32
	mixed *= 0xD6E8FEB86659FD93
	return float64(mixed>>11)/(1<<53) < p
}

// losesReply reports whether an answer of the server is lost on its way.
func (n *NAS) losesReply() bool {
	n.lock()
	defer n.unlock()
	n.draws++
	return n.happens(n.faults.DropReplies, "reply", n.draws)
}
