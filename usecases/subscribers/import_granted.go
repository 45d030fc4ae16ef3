package subscriberscases

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// keptImport is an import that waits for a second person. Its rows are kept beside it, so that no others are taken in
// than those that were looked at.
type keptImport struct {
	Ask    commands.AskImport
	Round  int `json:",omitempty"` // above zero for one that begins again
	Credit money.Amount
}

// command begins the import, or begins it again.
func (k keptImport) command() commands.Command {
	if k.Round == 0 {
		return k.Ask
	}
	return commands.AskImportAgain{AskImport: k.Ask, Round: k.Round}
}

// act is the id under which its credit counts. Each round has its own: the rows of a later one may be others, because
// more of the file can be taken in by then.
func (k keptImport) act() id.Command {
	if k.Round == 0 {
		return id.As[id.Command](k.Ask.ImportID)
	}
	return id.Derive[id.Command]("import again", k.Ask.ImportID.String(), strconv.Itoa(k.Round))
}

// alone begins an import when one person may give its credits away, else it is kept until a second person agrees.
func (u Imports) alone(
	ctx context.Context, asked usecases.Asked, kept keptImport, approval id.Approval,
) (done bus.Result, err error) {
	if asked.Approval.IsZero() && kept.Credit.Positive() { // before anybody is asked to agree
		if err := u.keep(ctx, kept); err != nil {
			return done, err
		}
	}
	meta := asked.Meta
	meta.CorrelationID = kept.Ask.ImportID.String()
	act := usecases.Act{
		Kind: events.ActImport, Amount: kept.Credit, Command: kept.command(), ApprovalID: approval,
		What: events.ApprovalAct{ImportID: kept.Ask.ImportID}, ID: kept.act(),
	}
	err = usecases.Alone(ctx, u.Bus, asked, act, func() (err error) {
		done, err = u.Bus.Execute(ctx, kept.command(), meta)
		return err
	})
	if err != nil {
		return done, err
	}
	return done, u.Files.Delete(ctx, commands.ImportAskFile(kept.Ask.ImportID))
}

// keep stores an import that waits.
func (u Imports) keep(ctx context.Context, kept keptImport) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("write import: %w", err)
	}
	return u.Files.Put(ctx, vault.File{
		ID: commands.ImportAskFile(kept.Ask.ImportID), OrgID: kept.Ask.OrgID,
		Ends: u.Clock.Now().Add(importKept),
	}, 0, text)
}

// Granted begins an import as a second person has granted it. Fails: file_gone, approval_outdated.
func (u Imports) Granted(ctx context.Context, asked usecases.Asked, of usecases.Granted) error {
	text, err := u.Files.Get(ctx, asked.Org(), commands.ImportAskFile(of.What.ImportID), 0)
	if err != nil {
		return err
	}
	var kept keptImport
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("read import: %w", err)
	}
	_, err = u.alone(ctx, asked, kept, asked.Approval)
	return err
}
