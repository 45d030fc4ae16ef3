package till

import "testing"

func TestTake(t *testing.T) {
	till := Opened(3, "")
	if !till.Take() || till.Coins != 4 || till.Kind() != "some" {
		t.Errorf("till %+v", till)
	}
	if full := Opened(101, ""); full.Take() {
		t.Error("a full till took a coin")
	}
}
