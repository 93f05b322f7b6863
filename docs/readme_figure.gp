# The picture of README.md, from the run folders of experiments/readme_figure.toml:
#   ticopd compare experiments/readme_figure.toml --out runs/readme
#   gnuplot -e "runs='runs/readme'" docs/readme_figure.gp
if (!exists("runs")) runs = "runs/readme"
set terminal pngcairo size 1200,450 font "Sans,15" background "white"
set output "docs/readme_figure.png"
set datafile separator ","

folders = "ticopd-top-2-percent ticopd-8-bit beer-8-bit choco-sgd-8-bit dgd-32-bit"
titles = "'TiCoPD, top 2 %' 'TiCoPD, 8 bits' 'BEER, 8 bits' 'CHOCO-SGD, 8 bits' 'DGD, 32 bits'"
file(i) = runs . "/" . word(folders, i) . "/metrics.csv"

# Colours that stay apart for colour-blind readers (Okabe, Ito).
set linetype 1 lc rgb "#d55e00" lw 4
set linetype 2 lc rgb "#e69f00" lw 3
set linetype 3 lc rgb "#0072b2" lw 3
set linetype 4 lc rgb "#009e73" lw 3
set linetype 5 lc rgb "#777777" lw 3

set border 3 lc rgb "#444444"
set tics nomirror
set style line 100 lt 1 lc rgb "#dddddd" lw 1
set grid ytics linestyle 100
set logscale x
set xrange [1:5000]
set format x "%g"
set xlabel "megabits sent by each agent"

set multiplot layout 1,2 margins 0.055,0.985,0.16,0.9 spacing 0.08

set title "Training loss of the worst agent"
set logscale y
set yrange [0.02:3]
set ytics (0.1, 0.2, 0.5, 1, 2)
set key at graph 0.02,0.02 left bottom Left reverse samplen 2 spacing 1.05
plot for [i = 1:5] file(i) using (column("bits_payload") / 1e6):"loss_max" with lines lt i title word(titles, i)

set title "Test accuracy of the worst agent"
unset logscale y
set yrange [0:1]
set ytics ("0" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "95 %%" 0.95)
unset key
plot for [i = 1:5] file(i) using (column("bits_payload") / 1e6):"accuracy_min" with lines lt i
unset multiplot
