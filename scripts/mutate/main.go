// Mutate changes the code of packages in one small place at a time and reports the changes that no test notices. It
// compiles a package once with all its mutants, and runs the package's own tests once for each of them:
//
//	go run ./scripts/mutate [-min 90] [-first "-rapid.checks=5"] ./aggregates/billing ./internal/money
//	go run ./scripts/mutate -file direct.go -run '^TestTimers_' ./processmanagers/runner
//
// With -first each mutant meets a quick run of the tests, and only one that survives it meets all of them. -file and
// -run leave out what is in other files, and other tests: a package with a database takes hours as a whole.
// A mutant is a condition that is negated, a clause that is dropped, a boundary that moves by one, a statement or a
// field that is left out, a case that does nothing, or a function that returns zero values.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// options has the values of the flags.
type options struct {
	workers int      // mutants that are tried at the same time
	first   []string // flags of the test program for a quick run before the whole one; none = there is none
	file    string   // the name of the only file to change; "" = all
	tests   string   // the tests to run, as -run of go test has them; "" = all
}

// main exits with 1 when too few mutants were killed, and with 2 when they could not be tried.
func main() {
	least := flag.Float64("min", 0, "smallest share of killed mutants in percent")
	workers := flag.Int("workers", runtime.NumCPU(), "number of mutants that are tried at the same time")
	first := flag.String("first", "", "flags of the test program for a quick run before the whole one")
	file := flag.String("file", "", "name of the only file to change")
	tests := flag.String("run", "", "the tests to run, as -run of go test has them")
	flag.Parse()
	o := options{*workers, strings.Fields(*first), *file, *tests}
	below := false
	for _, pattern := range flag.Args() {
		packages, err := list(pattern)
		if err != nil {
			fatal(err)
		}
		for _, p := range packages {
			killed, all, err := try(p, o)
			if err != nil {
				fatal(fmt.Errorf("%s: %w", p.ImportPath, err))
			}
			below = below || float64(killed)*100 < *least*float64(all)
		}
	}
	if below {
		os.Exit(1)
	}
}

// fatal ends the program with status 2.
func fatal(err error) {
	fmt.Fprintln(os.Stderr, "mutate:", err)
	os.Exit(2)
}

// try prints the surviving mutants of a package and their share, and returns the numbers of killed and of all mutants.
// A package without tests keeps all of its mutants.
func try(p pkg, o options) (killed, all int, err error) {
	mutants, files, err := instrument(p)
	if mutants = o.chosen(mutants); err != nil || len(mutants) == 0 {
		return 0, 0, err
	}
	if !p.tested() {
		fmt.Printf("%s: has no tests for %d mutants\n", p.ImportPath, len(mutants))
		return 0, len(mutants), nil
	}
	program, err := compile(p, files)
	if err != nil {
		return 0, 0, err
	}
	defer program.remove()
	program.first = o.first
	if o.tests != "" {
		program.args = append(program.args, "-test.run="+o.tests)
	}
	outcomes, err := program.runAll(mutants, o.workers)
	if err != nil {
		return 0, 0, err
	}
	for i, m := range mutants {
		if outcomes[i] {
			killed++
			continue
		}
		fmt.Println(m)
	}
	fmt.Printf("%s: %d of %d mutants killed, %.1f %%\n", p.ImportPath, killed, len(mutants),
		float64(killed)*100/float64(len(mutants)))
	return killed, len(mutants), nil
}

// chosen leaves out the mutants of other files.
func (o options) chosen(mutants []mutant) []mutant {
	return slices.DeleteFunc(mutants, func(m mutant) bool {
		return o.file != "" && o.file != filepath.Base(m.place.Filename)
	})
}

// sorted returns the mutants in the order of their places.
func sorted(mutants []mutant) []mutant {
	slices.SortFunc(mutants, func(a, b mutant) int { return a.id - b.id })
	return mutants
}
