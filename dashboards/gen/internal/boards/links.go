package boards

// kept is what a link to another dashboard keeps: the time, the data source and the job, and with
// $LINKED the clusters.
const kept = "?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED"

func toResource() link {
	const url = "/d/lockscope-resource" + kept + "&var-resource=${__field.labels.resource:percentencode}"
	return link{title: "This resource in depth", url: url}
}

func toNode() link {
	const url = "/d/lockscope-nodes" + kept + "&var-lock_node=${__field.labels.lock_node:percentencode}"
	return link{title: "This node", url: url}
}

// fromRow is for the column of a table that names what another dashboard is about; the row
// has a job.
func fromRow(title, board, label string) link {
	const job = "?${__url_time_range}&${datasource:queryparam}$LINKED&var-job=${__data.fields.job:percentencode}"
	return link{title: title, url: "/d/" + board + job + "&var-" + label + "=${__data.fields." + label +
		":percentencode}"}
}
