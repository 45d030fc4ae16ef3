package paymentscases

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// FailedCallbacks are the provider's messages that led to nothing. The provider does not repeat them, so the platform's
// operator reads what they say and has them tried again (docs/rules/payments.md#failed-callbacks). Safe for concurrent
// use.
type FailedCallbacks struct {
	Bus   *bus.Bus
	Inbox *vault.Inbox
}

// CallbackContent is the content of a message.
type CallbackContent struct {
	Text string
	Cut  bool // it is longer
}

// List gives up to limit messages behind one of them, the newest first.
func (f FailedCallbacks) List(
	ctx context.Context, verified bool, after id.Any, limit int,
) ([]vault.FailedCallback, error) {
	return f.Inbox.Failed(ctx, verified, uuid.UUID(after), limit)
}

// Read gives the content of a message, after the audit log has who reads it. Fails: callback_not_found.
func (f FailedCallbacks) Read(ctx context.Context, asked usecases.Asked, callback id.Any) (CallbackContent, error) {
	found, err := f.find(ctx, callback)
	if err != nil {
		return CallbackContent{}, err
	}
	if _, err := f.Bus.Execute(ctx, commands.ReadCallback{
		LookupID: usecases.NewID[id.Lookup](asked, "read callback"), CallbackID: callback,
	}, asked.Meta); err != nil {
		return CallbackContent{}, err
	}
	text := strings.ToValidUTF8(string(found.Body[:min(len(found.Body), maxProofContent)]), "\uFFFD")
	return CallbackContent{Text: text, Cut: len(found.Body) > maxProofContent}, nil
}

// Retry has a message handled again, by whatever program serves now. Money that is recorded already is not recorded
// again. Fails: callback_not_found, also for a message that waits or was handled.
func (f FailedCallbacks) Retry(ctx context.Context, asked usecases.Asked, callback id.Any) error {
	if _, err := f.find(ctx, callback); err != nil {
		return err
	}
	if _, err := f.Bus.Execute(ctx, commands.RetryCallback{
		LookupID: usecases.NewID[id.Lookup](asked, "retry callback"), CallbackID: callback,
	}, asked.Meta); err != nil {
		return err
	}
	return f.Inbox.Retry(ctx, uuid.UUID(callback))
}

// find gives a message that failed. Fails: callback_not_found.
func (f FailedCallbacks) find(ctx context.Context, callback id.Any) (vault.FailedCallback, error) {
	found, err := f.Inbox.FindFailed(ctx, uuid.UUID(callback))
	switch {
	case err != nil:
		return vault.FailedCallback{}, err
	case found == nil:
		return vault.FailedCallback{}, vault.ErrNoCallback()
	}
	return *found, nil
}
