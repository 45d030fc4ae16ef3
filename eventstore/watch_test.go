package eventstore_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/internal/storetest"
)

func TestWatch_TellsThatASubscriptionIsInterruptedWhileItIs(t *testing.T) {
	t.Parallel()
	kit := storetest.New(t)
	lost := make(chan struct{}, 1000)
	kit.Store.Watch(func() { lost <- struct{}{} })
	sub := kit.Store.Subscribe(t.Context(), 0, nil)
	for !next(t, sub).CaughtUp {
	}
	if n := len(lost); n > 0 {
		t.Errorf("%d interruptions are told of a store that was never away", n)
	}
	kit.StopNode()
	<-lost
	kit.StartNode()
	for !next(t, sub).CaughtUp {
	}
	for len(lost) > 0 {
		<-lost
	}
	sub.Close()
	kit.Store.Close()
	if n := len(lost); n > 0 {
		t.Errorf("%d interruptions are told of an end that was asked for", n)
	}
}
