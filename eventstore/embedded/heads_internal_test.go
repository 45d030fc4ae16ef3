package embedded

import (
	"slices"
	"testing"
)

// TestRelated_HasEveryHeadThatTheRulesAskFor: others are not in memory when a write is decided.
func TestRelated_HasEveryHeadThatTheRulesAskFor(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"x", "$$x", "$$$$x", "$x"} {
		stateOf(stream, func(name string) head {
			if !slices.Contains(related(stream), name) {
				t.Errorf("the rules for %s ask for the head of %s", stream, name)
			}
			return head{last: 3}
		})
	}
}
