package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// variable names the environment variable with the id of the mutant to apply; 0 applies none.
const variable = "LASTMILE_MUTANT"

// helpers is the file that is added to the package under test.
const helpers = `package %s

import (
	"os"
	"strconv"
)

var mutantID, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutantIs(id int) bool { return id == mutantID }

func mutantZero[T any](id int, value T) T {
	if id == mutantID {
		return *new(T)
	}
	return value
}

func mutantOf[T any](id int, changed func() T, value T) T {
	if id == mutantID {
		return changed()
	}
	return value
}
`

// program is the test program of a package with all its mutants.
type program struct {
	folder string // temporary
	path   string
	dir    string // where the tests run
	args   []string
}

// remove deletes the program.
func (p program) remove() { _ = os.RemoveAll(p.folder) }

// compile builds the test program from the changed text of the package's files, by path.
func compile(p pkg, files map[string][]byte) (program, error) {
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return program{}, err
	}
	out := program{folder: folder, path: filepath.Join(folder, "tests"), dir: p.Dir, args: []string{"-test.failfast"}}
	if p.usesRapid() {
		out.args = append(out.args, "-rapid.nofailfile")
	}
	overlay := map[string]string{}
	add := func(path string, text []byte) error {
		copied := filepath.Join(folder, strconv.Itoa(len(overlay))+".go")
		overlay[path] = copied
		return os.WriteFile(copied, text, 0o600)
	}
	for path, text := range files {
		if err := add(path, text); err != nil {
			return out, err
		}
	}
	if err := add(filepath.Join(p.Dir, "mutants_added.go"), fmt.Appendf(nil, helpers, p.Name)); err != nil {
		return out, err
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return out, err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(list, text, 0o600); err != nil {
		return out, err
	}
	_, err = goCommand("test", "-vet=off", "-overlay", list, "-c", "-o", out.path, p.ImportPath)
	return out, err
}

// runAll tries every mutant and reports which of them a test noticed. It fails when the tests fail without any mutant.
func (p program) runAll(mutants []mutant, workers int) ([]bool, error) {
	began := time.Now()
	if out, err := p.run(0, 10*time.Minute); err != nil {
		return nil, fmt.Errorf("the tests fail without a change: %w\n%s", err, out)
	}
	limit := max(10*time.Second, 10*time.Since(began))
	killed := make([]bool, len(mutants))
	queue := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range queue {
				_, err := p.run(mutants[i].id, limit)
				killed[i] = err != nil
			}
		})
	}
	for i := range mutants {
		queue <- i
	}
	close(queue)
	group.Wait()
	return killed, nil
}

// run runs the tests with one mutant. A program that exceeds the limit is killed, which is an error too.
func (p program) run(id int, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), variable+"="+strconv.Itoa(id))
	return cmd.CombinedOutput()
}
