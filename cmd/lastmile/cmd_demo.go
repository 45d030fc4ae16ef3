package main

import (
	"context"
	"errors"
)

// demoCommand is `lastmile demo`.
type demoCommand struct{}

// Run is the demo.
func (demoCommand) Run(ctx context.Context, p program) error { return errors.New("later") }
