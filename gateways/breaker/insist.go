package breaker

import "context"

// insistKey is the context's key of Insist.
type insistKey struct{}

// Insist marks the calls of a person who asks whether a target works. They pass an open breaker as its probe, one at a
// time: a success closes the breaker, and a failure leaves the cool-down as it is. While another probe is on its way
// they wait for its end. Who calls bounds how often that may be (docs/rules/engine.md#breaker).
func Insist(ctx context.Context) context.Context {
	return context.WithValue(ctx, insistKey{}, true)
}

// insists reports whether a context was marked by Insist.
func insists(ctx context.Context) bool {
	marked, _ := ctx.Value(insistKey{}).(bool)
	return marked
}

// endProbe wakes the calls that wait for the probe, if there is one. The set's lock is held.
func (t *target) endProbe() {
	if t.probe != nil {
		close(t.probe)
		t.probe = nil
	}
}
