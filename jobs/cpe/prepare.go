package cpejobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
)

// Preparation brings what we need to the CPE server: at each start, and once a day for one that was set up anew
// meanwhile. Every field is required. Safe for concurrent use.
type Preparation struct {
	Gateway    *genieacs.Server
	Provisions Provisions // of organizations
	Logger     *slog.Logger
}

// Times of a preparation, and the file of speed tests.
const (
	prepareEvery   = 24 * time.Hour
	prepareTimeout = 5 * time.Minute
	testFileBytes  = 10_000_000
	testFileType   = "X LASTMILE Test File"
)

// Register makes the queue know the worker, and when it works: one program at a time.
func (p Preparation) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, p.prepare, jobrunner.Options{Timeout: prepareTimeout})
	jobrunner.EveryAndAtStart(queue, prepareEvery, commands.PrepareCpeServer{})
}

// prepare writes what is missing or older, and nothing else.
func (p Preparation) prepare(ctx context.Context, _ commands.PrepareCpeServer, cause jobs.Cause) error {
	done, err := p.Gateway.Install(ctx)
	if err != nil {
		return fmt.Errorf("install provisions: %w", err)
	}
	if len(done.Written)+len(done.Newer) > 0 {
		p.Logger.LogAttrs(ctx, slog.LevelInfo, "provisions of the cpe server", slog.Any("written", done.Written),
			slog.Any("newer", done.Newer))
	}
	return errors.Join(p.Provisions.all(ctx, cause), p.testFile(ctx))
}

// testFile uploads the file of speed tests, unless it is there.
func (p Preparation) testFile(ctx context.Context) error {
	files, err := p.Gateway.Files(ctx)
	if err != nil {
		return fmt.Errorf("list files of the cpe server: %w", err)
	}
	for _, f := range files {
		if f.Name == TestFile && f.Size == testFileBytes {
			return nil
		}
	}
	content := make([]byte, testFileBytes)
	_, _ = rand.Read(content) // never fails
	if err := p.Gateway.PutFile(ctx, genieacs.File{Name: TestFile, Type: testFileType}, content); err != nil {
		return fmt.Errorf("upload the file of speed tests: %w", err)
	}
	return nil
}
