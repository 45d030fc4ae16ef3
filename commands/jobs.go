package commands

// Job has the arguments of one call to an outside system, made by a worker of jobs/<area>. They are ids only, never
// phones, codes or texts (docs/rules/engine.md#jobs). Each job is a struct in <area>_jobs.go.
type Job interface {
	// Kind is the durable name of the job: rows of the queue have it, so it never changes.
	Kind() string
}
