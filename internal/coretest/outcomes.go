package coretest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Refused reports an error unless the failure has the code; "" means that there must be no failure.
func Refused(t testing.TB, what string, err error, code string) {
	t.Helper()
	if failure.CodeOf(err) != code || code == "" && err != nil {
		t.Errorf("%s: have %v, want %q", what, err, code)
	}
}

// Faulty reports an error unless the input is invalid and each of the fields has a fault.
func Faulty(t testing.TB, what string, err error, fields ...string) {
	t.Helper()
	Refused(t, what, err, "invalid_input")
	named := FaultsOf(err)
	for _, field := range fields {
		if !slices.Contains(named, field) {
			t.Errorf("%s: %s has no fault in %v", what, field, err)
		}
	}
}

// FaultsOf lists the fields that a failure names, once for each fault.
func FaultsOf(err error) (fields []string) {
	var f *failure.Error
	if !errors.As(err, &f) {
		return nil
	}
	for _, fault := range f.Faults {
		field, _, _ := strings.Cut(fault, " ")
		fields = append(fields, field)
	}
	return fields
}

// AtOnce calls f for 0 to times-1, all at the same time, and gives the errors in that order.
func AtOnce(times int, f func(n int) error) []error {
	errs := make([]error, times)
	var all sync.WaitGroup
	for n := range times {
		all.Go(func() { errs[n] = f(n) })
	}
	all.Wait()
	return errs
}

// Codes lists the failure codes of the errors that are not nil, sorted; an error without a code is listed by its text.
func Codes(errs []error) (codes []string) {
	for _, err := range errs {
		switch code := failure.CodeOf(err); {
		case code != "":
			codes = append(codes, code)
		case err != nil:
			codes = append(codes, err.Error())
		}
	}
	slices.Sort(codes)
	return codes
}
