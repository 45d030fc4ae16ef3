package main

import "testing"

// TestToday_AllCallersShareTheReadingsOfOneProgram: what is made for each call must not begin a reading of its own.
func TestToday_AllCallersShareTheReadingsOfOneProgram(t *testing.T) {
	t.Parallel()
	a := &App{engines: &engines{}}
	if first, second := a.today(), a.today(); first.Shared != second.Shared {
		t.Error("two that were made by one program share nothing")
	}
	if other := (&App{engines: &engines{}}); a.today().Shared == other.today().Shared {
		t.Error("two programs share their readings")
	}
}
