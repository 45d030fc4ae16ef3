package cpejobs

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// readAgainWithin ends a task that reads the results of a test and did not run: the next look makes another one.
const readAgainWithin = 10 * time.Minute

// testEnded reads how far a test is. The device tells results only to who asks, and those of an earlier test stand
// where the new ones will be: they count when they were read with the end or after it.
func (a ACS) testEnded(
	ctx context.Context, w Write, device genieacs.DeviceID, test genieacs.Diagnostic,
) (Outcome, error) {
	read, err := a.Gateway.Device(ctx, device, test.Results()...)
	if err != nil {
		return Outcome{}, err
	}
	state, has := read.Values[test.State]
	switch text := state.Text(); {
	case !has:
		return Outcome{Code: "not_supported", Message: "The device does not have this test."}, nil
	case strings.HasPrefix(text, "Error"):
		return Outcome{Code: "test_failed", Message: text}, nil
	case strings.HasPrefix(text, "Complete") && readSince(read, test, state.At):
		result := resultOf(read, test)
		return Outcome{Done: true, Result: &result}, nil
	}
	_, err = a.Gateway.Enqueue(ctx, device, genieacs.Task{
		Kind: genieacs.GetParameters, Names: test.Results(), UniqueKey: w.Key + "-read", Expiry: readAgainWithin,
	})
	if err == nil {
		a.call(ctx, w, device)
	}
	return Outcome{}, err
}

// readSince reports whether all results that the device has were read at an instant or later.
func readSince(read genieacs.Device, test genieacs.Diagnostic, at time.Time) bool {
	for _, path := range test.Results() {
		if value, has := read.Values[path]; has && value.At.Before(at) {
			return false
		}
	}
	return true
}

// resultOf reads what a test has measured. A device says with the year 1 that it does not know an instant.
func resultOf(read genieacs.Device, test genieacs.Diagnostic) events.CpeTestResult {
	instant := func(path string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, read.Values[path].Text())
		if err != nil || at.Year() <= 1 {
			return time.Time{}
		}
		return at.UTC()
	}
	number := func(path string, most int64) int64 {
		n, err := strconv.ParseInt(read.Values[path].Text(), 10, 64)
		if err != nil { // unknown, or above all that is possible
			return 0
		}
		return min(max(n, 0), most)
	}
	count := func(path string) int { return int(number(path, math.MaxInt32)) }
	out := events.CpeTestResult{
		BeganAt: instant(test.Began), EndedAt: instant(test.Ended), Bytes: number(test.Bytes, mostBytes),
		Answered: count(test.Good), Lost: count(test.Bad), AverageMs: count(test.Average), LeastMs: count(test.Least),
		MostMs: count(test.Most),
	}
	took := out.EndedAt.Sub(out.BeganAt)
	if !out.BeganAt.IsZero() && took > 0 {
		out.BitsPerSecond = int64(math.Round(float64(out.Bytes) * 8 / took.Seconds()))
	}
	return out
}

// mostBytes bounds what a test can have moved, so that a speed made of it is a number: 1 PB.
const mostBytes = 1e15
