package processrunner

import (
	"strconv"
	"testing"
)

// piled is a pile of keys.
type piled struct{ pile[string] }

// comes makes the work of a key wait, and reports whether it ends the rest.
func (p *piled) comes(key string) bool {
	p.add(key, key)
	return len(p.back) > 0
}

// goes takes what waits, and counts it.
func (p *piled) goes() int { return len(p.take(gatherMost, func(key string) string { return key })) }

// newPiled is an empty pile.
func newPiled() *piled {
	p := &piled{}
	p.init()
	return p
}

func TestPile_TheRestEndsWhenAllThatWereTakenAreBack(t *testing.T) {
	t.Parallel()
	p := newPiled()
	p.comes("a")
	if n := p.goes(); n != 1 || len(p.back) > 0 {
		t.Fatalf("%d taken", n)
	}
	if p.comes("b") {
		t.Error("what is new ends the rest")
	}
	if !p.comes("a") {
		t.Error("the next work of the only key rests")
	}
	if n := p.goes(); n != 2 || len(p.back) > 0 {
		t.Fatalf("%d taken", n)
	}
	if p.comes("c") || p.comes("b") || !p.comes("a") {
		t.Error("the rest ends before all are back, or not then")
	}
}

func TestPile_TheRestEndsWhenATransactionIsFull(t *testing.T) {
	t.Parallel()
	p := newPiled()
	p.comes("first")
	p.goes()
	for n := range gatherMost - 1 {
		if p.comes(strconv.Itoa(n)) {
			t.Fatalf("%d are enough", n+1)
		}
	}
	if !p.comes("last") {
		t.Error("a full transaction waits")
	}
	for range gatherMost {
		p.comes("more")
	}
	if n := p.goes(); n != gatherMost || len(p.back) == 0 {
		t.Errorf("%d taken, and the rest of as many waits", n)
	}
	if n := p.goes(); n != gatherMost || len(p.back) > 0 {
		t.Errorf("%d taken", n)
	}
}
