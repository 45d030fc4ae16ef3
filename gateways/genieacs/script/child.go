package script

import (
	"context"
	"errors"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// question is a script for the child process.
type question struct {
	Source    string `json:"source"`
	TagPrefix string `json:"tagPrefix"`
}

// verdict is the child's answer.
type verdict struct {
	Text  string `json:"text"`
	Fault *Fault `json:"fault"` // nil = the script is allowed
}

// child reads scripts.
var child = parsing.InChild(parsing.Scripts, func(q question) (v verdict) {
	text, err := counted(q.Source, q.TagPrefix)
	if errors.As(err, &v.Fault) {
		return v
	}
	return verdict{Text: text}
})

// Counted refuses a script that does more than a provision of an organization may, with a *Fault, and gives an allowed
// one with calls of CountName, which get the steps of each turn and each call. A script that is given to the server
// runs in a function that has this one. The names of its tags begin with tagPrefix; "" allows none. The script is
// parsed in a child process with a turn of the organization. Fails: parsing_busy.
func Counted(ctx context.Context, t *parsing.Turns, org id.Organization, source, tagPrefix string) (string, error) {
	if fault := checkText(source); fault != nil {
		return "", fault
	}
	v, err := child.Run(ctx, t, org, len(source), question{source, tagPrefix})
	switch {
	case failure.CodeOf(err) == "input_too_complex":
		const text = "the script takes too long to read: put fewer brackets, functions and labels in each other"
		return "", &Fault{Line: 1, Text: text}
	case err != nil:
		return "", err
	case v.Fault != nil:
		return "", v.Fault
	}
	return v.Text, nil
}
