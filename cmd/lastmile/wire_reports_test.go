package main

import "testing"

// TestToday_AllCallersShareTheReadingsOfOneProgram: what is made for each call must not begin a reading of its own.
func TestToday_AllCallersShareTheReadingsOfOneProgram(t *testing.T) {
	t.Parallel()
	a := &App{engines: &engines{}}
	first, second := a.today(), a.today()
	if first.Shared != second.Shared || first.SharedGone != second.SharedGone ||
		first.Unreachable != second.Unreachable {
		t.Error("two that were made by one program share nothing")
	}
	if other := (&App{engines: &engines{}}); a.today().Shared == other.today().Shared {
		t.Error("two programs share their readings")
	}
}
