package scanner

import (
	"github.com/lockscope/lockscope/scanner/report"
)

// DocumentSchema is the version of [Document]. It changes when a field changes its meaning or is removed, not when
// one is added.
const DocumentSchema = report.DocumentSchema

// The JSON form of a [Report], wherever one is written; package report has it all.
type (
	// Document is the JSON form of a [Report].
	Document = report.Document
	// NodeDocument is the JSON form of a [NodeReport].
	NodeDocument = report.NodeDocument
	// GapDocument is the JSON form of a [Gap].
	GapDocument = report.GapDocument
	// ExcludedDocument is the JSON form of an [Excluded].
	ExcludedDocument = report.ExcludedDocument
	// FindingDocument is the JSON form of a [Finding].
	FindingDocument = report.FindingDocument
	// HoldDocument is the JSON form of a [Hold].
	HoldDocument = report.HoldDocument
)

// NewDocument converts a report into a Document. Its lists may be empty, but are never null.
func NewDocument(r Report) Document { return report.NewDocument(r) }

// NewHoldDocument converts a hold. It returns nil for the zero Hold.
func NewHoldDocument(h Hold) *HoldDocument { return report.NewHoldDocument(h) }
