package boards

import "github.com/lockscope/lockscope/dashboards/gen/internal/draw"

type (
	board       = draw.Board
	column      = draw.Column
	labelColumn = draw.LabelColumn
	link        = draw.Link
	mark        = draw.Mark
	panel       = draw.Panel
	query       = draw.Query
	row         = draw.Row
	step        = draw.Step
	tint        = draw.Tint
	variable    = draw.Variable
)

const (
	alertList   = draw.AlertList
	auto        = draw.Auto
	blue        = draw.Blue
	chartHeight = draw.ChartHeight
	full        = draw.Full
	green       = draw.Green
	grid        = draw.Table
	half        = draw.Half
	heat        = draw.Heat
	labelWidth  = draw.LabelWidth
	logLines    = draw.Logs
	orange      = draw.Orange
	purple      = draw.Purple
	quarter     = draw.Quarter
	red         = draw.Red
	states      = draw.States
	third       = draw.Third
	topList     = draw.TopList
	traces      = draw.Traces
	words       = draw.Words
	yellow      = draw.Yellow
)

var (
	above            = draw.Above
	anyIsBad         = draw.AnyIsBad
	anyIsSuspicious  = draw.AnyIsSuspicious
	anyLoki          = draw.Loki
	anyTempo         = draw.Tempo
	at               = draw.At
	atLeast          = draw.AtLeast
	budgetLeft       = draw.BudgetLeft
	chart            = draw.Chart
	course           = draw.History
	folded           = draw.Folded
	heatMap          = draw.HeatMap
	in               = draw.In
	instants         = draw.Instants
	losses           = draw.Losses
	neutral          = draw.Neutral
	now              = draw.Now
	oneResource      = draw.OneResource
	nodeCell         = draw.NodeCell
	resourceOfAnyJob = draw.ResourceOfAnyJob
	processes        = draw.Processes
	quantiles        = draw.Quantiles
	ratioChart       = draw.RatioChart
	redisNodes       = draw.LockNodes
	resourceCell     = draw.ResourceCell
	steps            = draw.Steps
	tile             = draw.Tile
	toNode           = draw.ToNode
	toResource       = draw.ToResource
)
