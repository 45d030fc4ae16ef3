// Package till is an example whose tests leave one known mutant of each kind alive.
package till

// Till counts coins. The zero value is empty.
type Till struct {
	Coins int
	Open  bool
	Owner string
}

// Opened returns an open till.
func Opened(coins int, owner string) Till {
	return Till{Coins: coins, Open: true, Owner: owner}
}

// Full reports whether no coin fits any more.
func (t Till) Full() bool { return t.Coins >= 100 }

// Take adds a coin, while the till is open and not full.
func (t *Till) Take() bool {
	if !t.Open || t.Full() {
		return false
	}
	t.Coins++
	return true
}

// Kind names the state of the till.
func (t Till) Kind() string {
	switch t.Coins {
	case 0:
		return "empty"
	}
	return "some"
}
